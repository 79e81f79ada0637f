import Chassis

/// The variables of a process that runs a worker.
public protocol WorkerVariables: KafkaVariables {
    /// Records in a batch at most.
    var batch: Variable<Int> { get }
    /// Dead letters in a row that stop the worker.
    var rejectionRun: Variable<Int> { get }
    /// Share of dead letters that stops the worker.
    var rejectionRatio: Variable<Double> { get }
    /// `STOREKEEPER_RECORD_KEYS_FILE`.
    var recordKeys: Variable<String?> { get }
}

extension Variable where Value == Int {
    /// How many records a worker processes at once.
    public static var batchLimit: Variable {
        .int(
            "STOREKEEPER_BATCH_LIMIT", "records processed and settled at once, at most", default: "500", in: 1...10_000)
    }

    /// When a run of dead letters stops the worker.
    public static var rejectionRun: Variable {
        .int(
            "STOREKEEPER_REJECTION_RUN",
            "dead letters in a row, of different purchases or payloads, that stop the worker",
            default: "100", in: 1...1_000_000)
    }
}

extension Variable where Value == Double {
    /// When a share of dead letters stops the worker.
    public static var rejectionRatio: Variable {
        .double(
            "STOREKEEPER_REJECTION_RATIO", "share of dead letters among the last 1000 records that stops the worker",
            default: "0.5", in: 0...1)
    }
}

extension WorkerVariables {
    /// What librdkafka would refuse, and keys that cannot be used.
    public func problems(in settings: Settings<Self>) -> [ConfigurationProblem] { settings.workerProblems }
}

extension Settings where Table: WorkerVariables {
    /// What librdkafka would refuse, and keys that cannot be used; for a table that has rules of its own as well.
    public var workerProblems: [ConfigurationProblem] {
        do throws(ConfigurationProblems) {
            _ = try RecordSeal(file: self.recordKeys)
            return kafkaProblems
        } catch {
            return kafkaProblems + error.problems
        }
    }

    /// When the worker suspects its own release.
    public var rejectionLimit: RejectionLimit {
        RejectionLimit(consecutive: self.rejectionRun, ratio: self.rejectionRatio)
    }
}
