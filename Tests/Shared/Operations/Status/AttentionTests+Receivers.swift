import Foundation
import Testing

@testable import Operations

extension AttentionTests {
    @Test func `A receiver that has just stopped has no clock that is ahead`() {
        let sentences = Self.report {
            let minute = Self.now.addingTimeInterval(-1)
            $0.receivers = .read([.init(instance: "a", lastMinute: minute, accepted: 1, rejected: 0)])
        }
        #expect(sentences == [])
    }

    @Test func `A receiver that was stopped is no problem while another runs, and one where none does`() {
        func sentences(_ others: [PipelineStatus.Receiver], age: Double = 600) -> [String] {
            Self.report {
                let minute = Self.now.addingTimeInterval(-age)
                $0.receivers = .read(
                    [.init(instance: "a", lastMinute: minute, accepted: 1, rejected: 0, isStopped: true)] + others)
            }
        }
        func other(age: Double) -> PipelineStatus.Receiver {
            .init(instance: "b", lastMinute: Self.now.addingTimeInterval(-age), accepted: 1, rejected: 0)
        }
        #expect(sentences([other(age: 60)]) == [])
        // The one that replaces it sends its first heartbeat when its minute is over.
        #expect(sentences([], age: 200) == [])
        #expect(
            sentences([]).map { $0.prefix(67) }
                == ["no receiver has sent a heartbeat since the last one ended 9 min ago"])
        #expect(sentences([other(age: 900)]).map { $0.prefix(34) } == ["receiver b has sent no heartbeat f"])
    }
}
