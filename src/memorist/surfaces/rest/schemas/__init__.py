"""What goes over the wire, as OpenAPI describes it: bodies that come in, and the JSON of `memorist.wire` going out."""
