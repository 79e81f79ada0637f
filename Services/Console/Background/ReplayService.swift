import Chassis
import Contracts
import Kafka
import Operations
import Pipeline
import Storage

/// Sends the selections of dead letters that people asked to replay: outside of requests, because it reads the topic.
struct ReplayService: Service {
    private static let interval = Duration.seconds(1)
    /// A process that dies within it is replaced after it; replaying twice is safe.
    private static let lease: Int64 = 120

    let database: ConnectionPool
    let kafka: KafkaConfiguration
    let producer: Producer
    let seal: RecordSeal
    let clock: ProcessClock
    let logger: Logger

    func run() async throws {
        await RetryLoop(clock: ContinuousClock()) { error in
            logger.warning(
                "Could not look for dead letters that operators asked to replay; retrying",
                metadata: ["error": "\(error)"])
        }.run { _ in try await turn() ? .zero : Self.interval }
    }

    /// - Returns: whether there was one.
    func turn() async throws -> Bool {
        let claimed = try await database.withConnection { connection in
            try await DeadLetterSelections(connection).claim(seconds: Self.lease)
        }
        guard let selection = claimed else { return false }
        do {
            try await replay(selection)
            try await settle(selection, isFinished: true, error: nil)
        } catch let error as OperationError {
            // What is gone from the topic does not come back.
            try await settle(selection, isFinished: true, error: "\(error)")
        } catch {
            try await settle(selection, isFinished: false, error: "\(error); it is tried again")
            throw error
        }
        return true
    }

    private func replay(_ selection: DeadLetterSelections.Selection) async throws {
        let log = try await DeadLetterLog(kafka)
        guard log.cluster == selection.cluster else {
            await log.close()
            throw OperationError(
                "the dead letters are of the cluster \(selection.cluster), and this console is connected to \(log.cluster)"
            )
        }
        let deadLetters: [StoredDeadLetter]
        do {
            deadLetters = try await log.deadLetters(Set(selection.deadLetters.compactMap(DeadLetterID.init)))
            await log.close()
        } catch {
            await log.close()
            throw error
        }
        let performer = try Performer(
            selection.requestedBy ?? selection.createdBy, reason: selection.note, at: clock.now())
        try await database.withConnection { connection in
            try await ReplayDeadLetters(deadLetters, of: selection.cluster).perform(
                through: producer, sealedBy: seal, on: connection, by: performer)
        }
    }

    private func settle(
        _ selection: DeadLetterSelections.Selection, isFinished: Bool, error: String?
    ) async throws {
        try await database.withConnection { connection in
            try await DeadLetterSelections(connection).settle(
                selection.id, finishedAt: isFinished ? clock.now() : nil,
                sent: error == nil ? selection.deadLetters.count : nil, error: error)
        }
    }
}
