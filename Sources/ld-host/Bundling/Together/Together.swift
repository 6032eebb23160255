// Nothing of its own: a build of this target builds the host and the default plugins, side by side.
