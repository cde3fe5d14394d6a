"""What goes over the wire, as OpenAPI describes it: bodies that come in, and the JSON of `recollect.wire` going out."""
