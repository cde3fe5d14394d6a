"""Who may use a server, and what it shares with others: keys, stored answers, and the list of its spaces."""
