"""Operations on traced values: elementwise, stores, numbers of the kernel."""
