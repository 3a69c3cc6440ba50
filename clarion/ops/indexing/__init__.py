"""Elements by place: indices, masks, gather and scatter, sorting, distinct values."""
