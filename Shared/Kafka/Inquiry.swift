import Threads

/// A thread for a question that blocks.
actor Inquiry {
    private let thread = DedicatedThread(name: "kafka-ask")

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    func ask<Answer: Sendable>(_ question: @Sendable () throws -> Answer) rethrows -> Answer { try question() }
}
