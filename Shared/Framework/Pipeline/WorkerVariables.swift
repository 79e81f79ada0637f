import Chassis

/// The variables of a process that runs a worker.
public protocol WorkerVariables: KafkaVariables {
    /// Maximum number of records in a batch.
    var batch: Variable<Int> { get }
    /// Consecutive dead letters that stop the worker.
    var rejectionRun: Variable<Int> { get }
    /// Share of dead letters that stops the worker.
    var rejectionRatio: Variable<Double> { get }
    /// `STOREKEEPER_RECORD_KEYS_FILE`.
    var recordKeys: Variable<String?> { get }
}

extension Variable where Value == Int {
    /// Number of records that a worker processes at once.
    public static var batchLimit: Variable {
        .int(
            "STOREKEEPER_BATCH_LIMIT", "maximum number of records processed and committed at once", default: "500",
            in: 1...10_000)
    }

    /// When a run of dead letters stops the worker.
    public static var rejectionRun: Variable {
        .int(
            "STOREKEEPER_REJECTION_RUN",
            "number of consecutive dead letters (rejected records) at which the service stops reading and is not ready "
                + "until it is restarted; forged payloads and those of unknown apps do not count, and several of one "
                + "originalTransactionId or payload count once",
            default: "100", in: 1...1_000_000)
    }
}

extension Variable where Value == Double {
    /// When a share of dead letters stops the worker.
    public static var rejectionRatio: Variable {
        .double(
            "STOREKEEPER_REJECTION_RATIO",
            "share of dead letters among the last 1000 records, 0 to 1, above which the service stops reading; counted as "
                + "for STOREKEEPER_REJECTION_RUN",
            default: "0.5", in: 0...1)
    }
}

extension WorkerVariables {
    /// What librdkafka would reject, and unusable keys.
    public func problems(in settings: Settings<Self>) -> [ConfigurationProblem] { settings.workerProblems }
}

extension Settings where Table: WorkerVariables {
    /// What librdkafka would reject, and unusable keys; for a table with rules of its own.
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
