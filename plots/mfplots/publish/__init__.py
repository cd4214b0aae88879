"""mfbench publish: a folder of results, checked and packed to be handed in (docs/contributing-results.md).

Needs a bare Python. `packed` is the format that ./dev pack writes, too; `found` reads a folder or a packed file,
`checks` says what is wrong with it and what a reader should know, `contribution` is the page that goes with it.
"""
