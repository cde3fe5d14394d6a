"""How we find: a recall is one pipeline of small stages. Pure: knows only model, ports and text."""
