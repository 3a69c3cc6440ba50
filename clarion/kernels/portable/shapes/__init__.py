"""The same elements in another shape or order: views, parts, joins, copies."""
