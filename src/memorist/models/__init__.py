"""Who computes: embedders, rerankers and language models, one file a vendor, imported when used."""
