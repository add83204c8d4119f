"""Fusion: Graph -> Graph -> ExecutionPlan.

Legality (`legality`), profitability (`cost`), mechanism (`fold`) and driver (`driver`) are apart.
Passes are functions of a graph that leave it as it is and return the same object when nothing
changed.
"""
