import Chassis

/// The variables of a process that runs a worker.
public protocol WorkerVariables: KafkaVariables {
    /// Records in a batch at most.
    var batch: Variable<Int> { get }
    /// Dead letters in a row that stop the worker.
    var poisonRun: Variable<Int> { get }
    /// Share of dead letters that stops the worker.
    var poisonRatio: Variable<Double> { get }
}

extension Variable where Value == Int {
    /// How many records a worker judges at once.
    public static var batchLimit: Variable {
        .int("STOREKEEPER_BATCH_LIMIT", "records judged and settled at once, at most", default: "500", in: 1...10_000)
    }

    /// When a run of dead letters stops the worker.
    public static var poisonRun: Variable {
        .int(
            "STOREKEEPER_POISON_RUN", "dead letters in a row that stop the worker instead of emptying the log",
            default: "100", in: 1...1_000_000)
    }
}

extension Variable where Value == Double {
    /// When a share of dead letters stops the worker.
    public static var poisonRatio: Variable {
        .double(
            "STOREKEEPER_POISON_RATIO", "share of dead letters among the last 1000 records that stops the worker",
            default: "0.5", in: 0...1)
    }
}

extension Settings where Table: WorkerVariables {
    /// When the worker suspects its own release.
    public var poisonLimit: PoisonLimit { PoisonLimit(consecutive: self.poisonRun, ratio: self.poisonRatio) }
}
