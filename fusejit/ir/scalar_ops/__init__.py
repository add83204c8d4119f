"""All that is known of each scalar op: `fusejit.ir.scalar_ops.table` has one row an op."""
