// A worker of your own: reads orders, passes on those with an amount, and rejects the others. It knows no App Store.
import Chassis
import Foundation
import Pipeline
import Records

/// The key of a record is the order's number, the value its amount in cents, as text.
struct Order: TopicMessage {
    var number: [UInt8]
    var cents: Int

    init(_ record: WireRecord) throws(ContractFault) {
        guard let number = record.key else { throw .missing("the key") }
        guard let cents = Int(String(decoding: record.value, as: UTF8.self)) else { throw .missing("the amount") }
        (self.number, self.cents) = (number, cents)
    }

    func record() -> WireRecord { WireRecord(key: number, value: Array(String(cents).utf8)) }
}

struct CheckOrder: Stage {
    enum Reason: String, StageReason {
        case undecodable, noAmount
        var countsTowardsRejectionLimit: Bool { self == .undecodable }
    }

    func process(_ deliveries: [Delivery<Order>]) -> [StageResult<Order, Reason>] {
        deliveries.map {
            $0.message.cents > 0
                ? .forward($0.message) : .deadLetter(.noAmount, message: "the order is of \($0.message.cents) cents")
        }
    }
}

struct Configuration: WorkerVariables {
    let brokers = Variable.kafkaBrokers
    let kafkaSettings = Variable.kafkaSettings
    let batch = Variable.batchLimit
    let rejectionRun = Variable.rejectionRun
    let rejectionRatio = Variable.rejectionRatio
    let recordKeys = Variable.recordKeys
}

let checker = ServiceName("order-checker", group: "shop.order-checker")
let received = Topic<Order>("orders.received", key: .subject, partitions: 4, writers: [], readers: [checker])
let checked = Topic<Order>("orders.checked", key: .subject, partitions: 4, writers: [checker], readers: [])
let rejected = Topic<DeadLetter>("orders.rejected", key: .original, partitions: 4, writers: [checker], readers: [])
let topics = TopicPlan(routes: [received.route, checked.route, rejected.route], deadLetters: rejected)

await ServiceProcess(
    name: checker.name, summary: "Passes on orders that have an amount.", adminAddress: "127.0.0.1:9190",
    variables: Configuration()
).run(clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString) { context in
    let connection = try await WorkerConnection(context, stage: checker, reading: received.route, of: topics)
    return connection.services(running: CheckOrder(), settlement: KafkaSettlement(connection, to: checked))
}
