import Threads

/// Runs a blocking request on a thread.
actor BlockingRequest {
    private let thread = DedicatedThread(name: "kafka-ask")

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    func ask<Answer: Sendable>(_ question: @Sendable () throws -> Answer) rethrows -> Answer { try question() }
}
