"""Result folders as pages for a browser: mfbench report DIR... --out site (docs/report.md).

    gather     finds the folders and reads them; a damaged file is named and left out
    groups     a data set's series from all folders, with the time of each to the target
    names      names of algorithms in rows and curves, and their authors
    panels     the first page: of each data set how long each algorithm takes to three targets
    board      the rows of leaderboard and speed; `ceilings` the measured limits of a machine
    case_page  all facts of one case
    pairs      `mfbench compare` of two folders that share cases
    exhibits   docs/reproduction, claim by claim; `figures` a picture of each exhibit
    tuning     searches of parameters with their trials
    write      data files, pages and libraries into the folder

Statistics come from mfbench; static/metrics.js repeats those that the browser needs when the target
moves, and a test compares it with mfbench.
"""
