"""What a user can do about each refusal, by the name of its rule."""

from __future__ import annotations

REMEDIES: dict[str, str] = {
    # legality of folding: fusejit.fuse.folding.legality
    "both are generic ops of one block": (
        "one operation is inside a loop or a condition and the other is not; "
        "move both inside or both outside"
    ),
    "neither is a library call": "nothing: BLAS is faster than a loop that is fused with more",
    "neither is in registers": "nothing: they are computed tile by tile in one loop",
    "neither is kept apart": "leave no_fuse out of the schedule",
    "operand is an input": "nothing: the result starts from that array and is updated in it",
    "operand is not gathered from": "take the elements first: np.exp(x[i]) instead of np.exp(x)[i]",
    "producer is parallel": (
        "nothing: a reduction is used when it is complete; along the axes that are not reduced, "
        "ops share a loop over tiles"
    ),
    "producer writes each element once": "make the whole array by one expression",
    "producer reads no init": "make the array by an expression instead of updating one",
    "memory is unchanged between": (
        "store after the last use, or into another array: y = x + 1 leaves x readable, x += 1 not"
    ),
    # profitability: fusejit.fuse.folding.cost
    "kept anyway": "nothing: the array is returned, stored or updated; if it need not be, drop it",
    "payload size": "nothing: beyond this size a loop runs out of registers",
    "number of arrays": "nothing: beyond this number a loop reads more streams than memory likes",
    "broadcast into a reduction": "nothing: it is computed once and read, instead of once per term",
    "expensive broadcast": "nothing: it is computed once per row and read, not once per element",
    "load-heavy broadcast": "nothing: it is computed once per row and read, not once per element",
    "several uses": (
        'nothing: it is computed once and kept; fusion="aggressive", or a function as fusion=..., '
        "computes it where it is read"
    ),
    "policy": "the policy that you passed as fusion= refused it",
    # reshapes between two ops: fusejit.fuse.reshaping.regroup
    "dims are read as they are": "reshape before slicing, or slice before reshaping",
    "nothing is gathered": "take elements by index after the reshape",
    "iterator types agree": "reshape only axes that are all reduced, or none of them",
    "reductions keep their order": "reduce over the axis as it was before the reshape",
    "dims stand together": "reshape before transposing",
    "whole axes are read": "slice after the reshape",
    "sizes are known": "take the size from an argument, or reshape before the arithmetic",
    "index sizes are known": "make the index array after the reshape",
    "the value is used once": "reshape every use of it, or none",
    "the value is the only result": "nothing: both results are computed in one loop",
    "results keep their order": "return a copy in C order",
    "results keep their place": "reshape the array that is stored into, or store before reshaping",
    "operands are reshaped in place": "nothing: another operand would have to be copied for it",
}
"""Rule -> remedy. A rule that is not here is a user's own, given by a policy as `Reject`."""
