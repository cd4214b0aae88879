"""Spark MLlib (pyspark): ALS for ratings, by threads of this machine or by the cluster of MFBENCH_SPARK_MASTER.

A row solves (Y'Y + reg n I) x = Y'r, n being its ratings: mfbench's `reg` of the ALS with weighted regularization. Of
implicit feedback it solves (Y'Y + reg n I + sum w y y') x = sum (1 + w) y, w = alpha r, n being its observed pairs.
The library makes its own initial factors, from the case's seed. Rows without ratings have none and are zero here.
"""

import os
import re
import shutil
import socket
import sys
import time

import mfpeer
import numpy


def listening_master(url):
    """Spark itself would ask for minutes, and then end the virtual machine."""
    found = re.fullmatch(r"spark://([\w.-]+|\[[0-9a-fA-F:]+\]):(\d{1,5})", url)
    if not found:
        raise mfpeer.Unsupported(f"`cluster` needs MFBENCH_SPARK_MASTER=spark://HOST:PORT, and found '{url[:100]}'")
    try:
        socket.create_connection((found[1].strip("[]"), int(found[2])), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise mfpeer.Unsupported(f"no master of Spark answers at {url}: {error}") from None
    return url


class Als:
    each_epoch = False
    starts_from = "library"

    def __init__(self, task):
        self.task = task
        if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
            raise mfpeer.Unsupported("Spark needs Java, which was not found: ./dev peers spark")
        master = f"local[{task.threads}]"
        if task.params["cluster"]:
            master = listening_master(os.environ.get("MFBENCH_SPARK_MASTER", ""))
        else:
            os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_SUBMIT_OPTS"] = f"-Djava.io.tmpdir={task.folder}"  # Java ignores TMPDIR
        import pyspark
        import pyspark.sql
        self.library, self.master = pyspark, master
        heap = max(512, int(0.6 * task.memory_bytes / 2**20))
        self.session = (
            pyspark.sql.SparkSession.builder.master(master).appName("mfbench")
            .config("spark.driver.memory", f"{heap}m").config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.local.dir", str(task.folder)).config("spark.sql.warehouse.dir", str(task.folder))
            .config("spark.sql.shuffle.partitions", str(task.params["blocks"])).getOrCreate())
        self.session.sparkContext.setLogLevel("ERROR")

    def describe(self):
        java = self.session.sparkContext._jvm.java.lang.System.getProperty("java.version")
        return self.library.__version__, {"java": java, "master": self.master.split(":")[0]}

    def convert(self, task):
        import pyarrow
        import pyarrow.parquet
        path = str(task.folder / "ratings.parquet")
        pyarrow.parquet.write_table(pyarrow.table({
            "user": numpy.array(task.user), "item": numpy.array(task.item), "rating": numpy.array(task.value)}), path)
        frame = self.session.read.parquet(path).repartition(task.params["blocks"])
        self.ratings = frame.cache()
        self.ratings.count()

    def train(self, epoch, learning_rate):
        from pyspark.ml.recommendation import ALS
        params, task = self.task.params, self.task
        implicit = {"implicitPrefs": True, "alpha": params["alpha"]} if task.algorithm == "implicit_als" else {}
        als = ALS(rank=task.factors, maxIter=epoch, regParam=params["reg"], seed=task.seed,
                  nonnegative=params["nonnegative"], numUserBlocks=params["blocks"],
                  numItemBlocks=params["blocks"], userCol="user", itemCol="item", ratingCol="rating",
                  checkpointInterval=-1, **implicit)
        start = time.perf_counter()
        self.fitted = als.fit(self.ratings)
        # Its matrices are made when they are asked for.
        self.fitted.userFactors.count()
        self.fitted.itemFactors.count()
        return time.perf_counter() - start

    def rows(self, frame, count):
        found = frame.collect()
        return mfpeer.spread([row["id"] for row in found], [row["features"] for row in found], count)

    def model(self):
        return {"p": self.rows(self.fitted.userFactors, self.task.n_users),
                "q": self.rows(self.fitted.itemFactors, self.task.n_items)}


mfpeer.run("spark", Als)
