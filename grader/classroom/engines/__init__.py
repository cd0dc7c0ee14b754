"""Where the kernels of a class are judged: on this machine, or on the nodes of a cluster."""
