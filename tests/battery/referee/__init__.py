"""A referee of its own: reads the battery's theorems, runs the methods and evaluates the bounds without boundlab.

Nothing here imports boundlab: what it finds true or false is a second opinion. It knows functions that are sums over
coordinates, with curvatures, centres and kinks in closed form, and takes expectations exactly: by enumerating all
draws, or, where gradients are affine, by carrying the noise along as coefficients.
"""
