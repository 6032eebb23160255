// Nothing of its own: whoever builds this target builds the host and the default plugins with it, side by side.
