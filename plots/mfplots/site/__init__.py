"""Result folders as pages for a browser: mfbench report DIR... --out site (docs/report.md).

    gather     finds the folders and reads them; a damaged file is named and left out
    groups     a data set's series from all folders, with the time of each to the target
    names      what rows and curves call an algorithm, and whose it is
    panels     the first page: of each data set how long each algorithm takes to three targets
    board      the rows of leaderboard and speed; `ceilings` what a machine was measured to do
    case_page  all that is known of one case
    pairs      what `mfbench compare` says of two folders that share cases
    exhibits   docs/reproduction, claim by claim; `figures` a picture of each exhibit
    tuning     searches of parameters with their trials
    write      data files, pages and libraries into the folder

Statistics are those of mfbench; static/metrics.js has what the browser needs again when the target
moves, and a test holds it to mfbench.
"""
