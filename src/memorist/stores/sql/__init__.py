"""The store over a relational database: one implementation, and one set of SQL statements per database."""
