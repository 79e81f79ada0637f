import Chassis
import Contracts
import Kafka
import Pipeline

/// Writes uploads to `notifications.received`. While Kafka is away the API goes on answering; only uploads are not recorded.
struct UploadLog: Service {
    let producer: ProducerService
    let logger: Logger

    /// Returns when all replicas in sync have all of them.
    func record(_ uploads: [ReceivedNotification]) async throws {
        try await producer.producer.send(uploads.map { ProducerRecord(Topics.received, $0) })
    }

    /// Connects, so that the first upload need not wait; then runs as the producer does.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await producer.producer.warmUp()
                    return
                } catch {
                    logger.warning("Kafka unavailable; uploads are answered 503", metadata: ["error": "\(error)"])
                    try? await Task.sleep(for: .seconds(1))
                }
            }
        }
        try? await gracefulShutdown()
    }
}
