"""The request and response bodies, as OpenAPI describes them."""
