"""The scalar ops: one row of `fusejit.ir.scalar_ops.scalar_op_table` for each."""
