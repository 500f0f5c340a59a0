"""The documents as a site: a reference made from the program, the order of the pages, the check of links."""
