"""What `import eqbench` offers next to single solves: runs, studies and lists as objects.

Begin with :func:`eqbench.api.runs.run`. Everything shows itself in notebooks (`html.py`).
"""
