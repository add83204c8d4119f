"""The scalar ops: one row of `fusejit.ir.scalar_ops.table` for each."""
