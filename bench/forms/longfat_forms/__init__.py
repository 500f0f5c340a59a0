"""Laws with a closed form, and whether longfat follows them: `bench/closed-forms` writes docs/closed-forms.md.

`laws` has the formulas with their sources, `experiments` the scenarios that they describe and how runs are
measured, `report` the tables and the pictures. The tests run the same experiments with fewer seeds.
"""
