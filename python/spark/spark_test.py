"""dploc.spark on a real cluster: a Master and two Workers of Spark's standalone mode on loopback.

The PyPI package has no start scripts, so spark-class is called. Executors have 1 GB. Checked: the
model of one machine byte for byte; an executor killed with -9 in the middle of every round;
speculative execution with one slow task; one user who has most of the trips; a worker with another
version; and that nothing of the data is in logs or event logs.  usage: spark_test.py DPLOC
DPLOC_SOAK=n: the kill test n times over.
"""

import glob
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import pyspark

FOLDER = tempfile.TemporaryDirectory(prefix="dploc-spark-")
os.environ["XDG_STATE_HOME"] = os.path.join(FOLDER.name, "state")
SPARK = os.path.dirname(pyspark.__file__)
SOAK = int(os.environ.get("DPLOC_SOAK", "1"))
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # for JVMs that live a minute on one core
PLANTED = 47.93517  # a latitude that one user alone has
RESULTS = 1 << 20  # bytes that the driver takes, all in all: less than the data
ROUNDS = 4  # of bridge: units, lengths, cells, all other tables
OPTIONS = {"region": "simulated", "cell": 4000, "epsilon": 8, "ledger": None, "insecure_seed": 5,
           "quiet": True}

import dploc  # noqa: E402
from dploc import rounds, spark  # noqa: E402


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


WORD = (1 << 64) - 1


def mixed(value):
    """The finaliser of splitmix64."""
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & WORD
    value = (value ^ value >> 27) * 0x94D049BB133111EB & WORD
    return value ^ value >> 31


def hashed(content):
    """The hash at a file's end (src/base/hash.c)."""
    odd = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xC2B2AE3D27D4EB4F
    fold = lambda a, b: (a * b >> 64 ^ a * b) & WORD  # noqa: E731
    high, low = mixed(odd[0]) ^ len(content), mixed(odd[1]) + len(content) & WORD
    for at in range(0, len(content), 8):
        word = int.from_bytes(content[at:at + 8], "little")
        high = fold(high ^ word, odd[0]) + odd[2] & WORD
        low = fold(low + word & WORD, odd[1] ^ high) ^ word
    high, low = mixed(high ^ low >> 7), mixed(low + odd[1] & WORD)
    return high.to_bytes(8, "little") + low.to_bytes(8, "little")


def of_version_9(content):
    """The same file as another version would have written it, its hash made right."""
    begin = b'"version":"'
    changed = content.replace(begin + dploc.__version__[:1].encode(), begin + b"9", 1)[:-16]
    return changed + hashed(changed)


class Cluster:
    """Master and Workers, ended by their process ids."""

    def __init__(self, folder, workers=2):
        self.folder, self.port = folder, free_port()
        self.processes = []
        self.start("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1",
                   "--port", str(self.port), "--webui-port", "0")
        self.wait_for_port()
        for i in range(workers):  # each a host: no task is copied to the host that it is slow on
            self.start(f"worker{i}", "org.apache.spark.deploy.worker.Worker", "--cores", "1",
                       "--memory", "1g", "--webui-port", "0", "--work-dir",
                       os.path.join(folder, f"work{i}"), "--host", f"127.0.0.{i + 1}", self.url,
                       host=f"127.0.0.{i + 1}")

    @property
    def url(self):
        return f"spark://127.0.0.1:{self.port}"

    def start(self, name, *command, host="127.0.0.1"):
        log = open(os.path.join(self.folder, f"{name}.log"), "wb")
        environment = dict(os.environ, SPARK_HOME=SPARK, PYSPARK_PYTHON=sys.executable,
                           SPARK_LOCAL_IP=host, SPARK_DAEMON_MEMORY="256m",
                           SPARK_LOCAL_DIRS=os.path.join(self.folder, "blocks"))
        self.processes.append(subprocess.Popen(
            [os.path.join(SPARK, "bin", "spark-class"), *command], stdout=log, stderr=log,
            env=environment, start_new_session=True))

    def wait_for_port(self):
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise RuntimeError("the master did not start")

    def executors(self):
        """Process ids of the executors of this cluster."""
        found = []
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(path, "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in words and any(
                    self.folder.encode() in word for word in words):
                found.append(int(path.split("/")[2]))
        return found

    def stop(self):
        for process in reversed(self.processes):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def content_of(path):
    """Of a file that may be gone."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def until_copied(shards, marker):
    """The shards; the first task waits for a copy of itself, which leaves the marker."""
    from pyspark import TaskContext
    context = TaskContext.get()
    if context.partitionId() == 0 and context.attemptNumber() > 0:
        open(marker, "wb").close()
    for _ in range(2400):  # two minutes: no engine is that late
        if context.partitionId() > 0 or os.path.exists(marker):
            yield from shards
            return
        time.sleep(0.05)
    raise RuntimeError("no copy of a slow task was started")


def session_on(cluster, more=None):
    """A driver with half the memory of an executor, all on loopback."""
    from pyspark.sql import SparkSession
    builder = SparkSession.builder.master(cluster.url).appName("dploc")
    for name, value in {
            "spark.ui.enabled": "false", "spark.executor.memory": "1g",
            "spark.driver.memory": "512m", "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1", "spark.task.maxFailures": "8",
            "spark.stage.maxConsecutiveAttempts": "20",
            "spark.deploy.maxExecutorRetries": "-1", "spark.ui.showConsoleProgress": "false",
            "spark.executor.extraJavaOptions": f"{JAVA} -Ddploc.test={cluster.folder}",
            "spark.driver.extraJavaOptions": JAVA,
            "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            **(more or {})}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.join(FOLDER.name, "cluster")
        cls.events = os.path.join(cls.folder, "events")
        os.makedirs(cls.events)
        cls.cluster = Cluster(cls.folder)
        cls.session = session_on(cls.cluster, {
            "spark.eventLog.enabled": "true", "spark.eventLog.dir": cls.events,
            "spark.io.encryption.enabled": "true", "spark.driver.maxResultSize": f"{RESULTS}b",
            "spark.speculation": "true", "spark.speculation.interval": "200ms",
            "spark.speculation.multiplier": "1.2", "spark.speculation.quantile": "0.5"})
        cls.city = cls.make_city()
        cls.frame = cls.session.createDataFrame(cls.city)
        cls.whole = {}

    @classmethod
    def tearDownClass(cls):
        cls.session.stop()
        cls.cluster.stop()

    @classmethod
    def make_city(cls):
        """Most trips are one user's, who is in the place that is planted."""
        city = dploc.simulate(trips=3000, seed=1)
        city.loc[city.tid % 5 < 3, "uid"] = 1
        city.loc[city.tid == 2, "lat"] = PLANTED
        return city

    def one_machine(self, **options):
        """The bytes of the model that one machine makes."""
        path = os.path.join(FOLDER.name, "one.dploc")
        dploc.fit(self.city, output=path, force=True, **{**OPTIONS, **options})
        with open(path, "rb") as file:
            return file.read()

    def on_spark(self, shards=4, **options):
        path = os.path.join(FOLDER.name, "spark.dploc")
        spark.fit(self.frame, shards=shards, output=path, **{**OPTIONS, **options})
        with open(path, "rb") as file:
            return file.read()

    def test_1_the_model_of_one_machine(self):
        self.assertEqual(self.on_spark(), self.one_machine())

    def test_1_from_files(self):
        """The same from Parquet, whose rows do not pass through the engine; a trip is in two."""
        import pyarrow
        import pyarrow.parquet
        table = pyarrow.Table.from_pandas(self.city.assign(extra="x"), preserve_index=False)
        cut = table.num_rows // 3
        for number, rows in enumerate([table.slice(0, cut), table.slice(cut)]):
            pyarrow.parquet.write_table(rows, f"{FOLDER.name}/rows{number}.parquet")
        path = os.path.join(FOLDER.name, "files.dploc")
        spark.fit(f"{FOLDER.name}/rows*.parquet", session=self.session, shards=3, output=path,
                  **OPTIONS)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), self.one_machine())

    def test_2_a_skewed_user(self):
        options = {"unit": "user", "epsilon": 90, "trips_max": 3}
        self.assertEqual(self.on_spark(shards=3, **options), self.one_machine(**options))

    def speculated(self):
        """How many copies of slow tasks the event log has seen the end of."""
        logs = glob.glob(f"{self.events}/*")
        return sum(content_of(path).count(b'"Speculative":true') for path in logs)

    def test_2_a_task_done_twice(self):
        """In every round the first task goes on when its copy runs: both count the same shard."""
        counted, before = spark.summed, self.speculated()

        def summed(cleaned, task, tasks):
            marker = os.path.join(FOLDER.name, f"copy{task.value.round}")
            return counted(cleaned.mapPartitions(lambda shards: until_copied(shards, marker)), task,
                           tasks)

        spark.summed = summed
        try:
            self.assertEqual(self.on_spark(), self.one_machine())
        finally:
            spark.summed = counted
        copies = glob.glob(f"{FOLDER.name}/copy*")
        self.assertEqual(len(copies), ROUNDS)
        self.assertGreaterEqual(self.speculated() - before, ROUNDS)

    def killed_in_every_round(self):
        """Process ids: in each round, while a task of its own counts, one executor with -9."""
        counted, killed = spark.summed, []

        def slowly(shard):
            time.sleep(0.5)
            return shard

        def kill_one(number):
            tracker = self.session.sparkContext.statusTracker()
            while len(killed) < number:
                stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
                pids = self.cluster.executors()
                if pids and any(stage and stage.numActiveTasks for stage in stages):
                    os.kill(pids[number % len(pids)], signal.SIGKILL)
                    killed.append(pids[number % len(pids)])
                time.sleep(0.02)

        def summed(cleaned, task, tasks):
            killer = threading.Thread(target=kill_one, args=(len(killed) + 1,), daemon=True)
            killer.start()
            try:
                return counted(cleaned.map(slowly), task, tasks)
            finally:
                killer.join(60)

        spark.summed = summed
        try:
            self.assertEqual(self.on_spark(), self.expected)
        finally:
            spark.summed = counted
        return killed

    def test_3_an_executor_killed_in_every_round(self):
        self.expected = self.one_machine()
        for i in range(SOAK):
            killed = self.killed_in_every_round()
            print(f"fit {i + 1}: executors killed in {len(killed)} rounds", flush=True)
            self.assertEqual(len(killed), ROUNDS)

    def test_4_another_version_is_refused(self):
        """What a worker of another version counts, and what it is given to count."""
        folder = tempfile.mkdtemp(dir=FOLDER.name)
        plan, key = rounds.begin(folder, **OPTIONS)
        task = rounds.Task(plan, key)
        part = task.count(task.clean(self.city, 0, 1))
        with self.assertRaisesRegex(dploc.RefusedError, "same version"):
            rounds.merge([of_version_9(part)])
        with self.assertRaisesRegex(dploc.RefusedError, "same version"):
            rounds.Task(of_version_9(plan), key)
        with self.assertRaisesRegex(dploc.RefusedError, "same version"):
            task.count(of_version_9(task.clean(self.city, 0, 1)))

    def test_5_samples_are_those_of_one_machine(self):
        model = dploc.Model(os.path.join(FOLDER.name, "spark.dploc"))
        alone = model.sample(trips=60, seed=3, quiet=True)
        drawn = spark.sample(self.session, model, 60, seed=3, blocks=7).toPandas()
        self.assertEqual(sorted(zip(alone.tid, alone.lat, alone.lng)),
                         sorted(zip(drawn.tid, drawn.lat, drawn.lng)))

    def test_5_samples_by_date(self):
        """Parquet in a folder a day: every trip whole, on the day on which it begins."""
        import pyarrow.parquet
        model = dploc.Model(os.path.join(FOLDER.name, "spark.dploc"))
        alone = model.sample(trips=60, seed=3, quiet=True)
        drawn = spark.sample(self.session, model, 60, seed=3, blocks=7, date_column="date")
        drawn.write.partitionBy("date").parquet(f"{FOLDER.name}/days")
        found = pyarrow.parquet.read_table(f"{FOLDER.name}/days").to_pandas()
        days = alone.groupby("tid").datetime.min().dt.strftime("%Y-%m-%d")
        self.assertGreater(days.nunique(), 1)
        self.assertEqual(sorted(zip(alone.tid, alone.lat, alone.tid.map(days))),
                         sorted(zip(found.tid, found.lat, found.date.astype(str))))

    def blocks_on_disk(self):
        """What executors have on their disks: rows on their way to shards, and cleaned trips."""
        paths = glob.glob(f"{self.folder}/blocks/**/blockmgr-*/*/*", recursive=True)
        return {os.path.basename(path): content_of(path) for path in paths}

    def test_6_nothing_of_the_data_is_in_shuffle_files(self):
        import pyarrow
        found, merged = {}, spark.whole

        def whole(*arguments):
            found.update(self.blocks_on_disk())
            return merged(*arguments)

        spark.whole = whole
        try:
            self.on_spark()
        finally:
            spark.whole = merged
        self.assertTrue(any(name.startswith("shuffle") for name in found))
        self.assertTrue(any(name.startswith("rdd") for name in found))
        planted = [str(PLANTED).encode(), struct.pack("<d", PLANTED)]
        plain = spark.written(pyarrow.Table.from_pandas(self.city))
        self.assertIn(planted[1], plain)  # as it would stand there
        for name, content in found.items():
            for bytes_ in planted:
                self.assertNotIn(bytes_, content, name)

    def test_7_the_driver_has_no_room_for_the_data(self):
        """All fits above went through it."""
        import pyarrow
        self.assertGreater(pyarrow.Table.from_pandas(self.city).nbytes, RESULTS)
        with self.assertRaisesRegex(Exception, "maxResultSize"):
            self.frame.collect()

    def test_8_nothing_of_the_data_is_in_logs(self):
        self.session.stop()
        places = [self.folder + "/*.log", self.events + "/*", self.folder + "/work*/**/stderr",
                  self.folder + "/work*/**/stdout"]
        files = [path for place in places for path in glob.glob(place, recursive=True)]
        self.assertTrue(any(path.endswith("stderr") for path in files))
        for path in files:
            for planted in (b"47.93517", b"47.9351"):
                self.assertNotIn(planted, content_of(path), path)


if __name__ == "__main__":
    unittest.main(verbosity=2)
