"""What `import eqbench` offers beside single solves: runs, studies and lists as objects.

Begin with :func:`eqbench.api.runs.run`. Everything shows itself in notebooks (`html.py`).
"""
