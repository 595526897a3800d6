"""Stand-ins for what a cloud on loopback cannot have: a network, storage and the agents that look after them."""
