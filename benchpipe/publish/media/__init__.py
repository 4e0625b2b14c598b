"""Run media on their way to the dataset: export what the snapshot names, compress it, strip what it says about us, upload it.

Pictures are not examined for text that is visible in them.
"""
