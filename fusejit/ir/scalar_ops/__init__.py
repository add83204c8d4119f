"""All that is known of each scalar op: `scalar_op_table` has one row per op."""
