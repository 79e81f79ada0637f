import Foundation
import Testing

@testable import Operations

struct AttentionTests {
    static let now = Date(timeIntervalSince1970: 1_790_000_000)

    static func report(
        _ change: (inout PipelineStatus) -> Void = { _ in }
    ) -> [String] {
        var report = PipelineStatus(
            at: now,
            stages: .read([.init(name: "verifier", topic: "t", waiting: 3, behindSeconds: 4)]),
            ledger: .read(.init(sample: 0)), rejected: .read([.init(stage: "verifier", reason: "signature", count: 9)]),
            receivers: .read([
                .init(instance: "a", lastMinute: now.addingTimeInterval(-120), accepted: 1, rejected: 0)
            ]),
            recovery: .read(
                RecoveryStatus(
                    coverage: [.init(bundleId: "app", environment: "Production", kind: "failures", completeUntil: now)],
                    missing: [.init(bundleId: "app", environment: "Production", count: 0)])))
        change(&report)
        return Attention().sentences(on: report)
    }

    @Test func `Attention is empty for a healthy pipeline and ignores forged notifications`() {
        #expect(Self.report() == [])
    }

    @Test func `Attention reports what could not be looked at, and where the database is away that and Kafka's`() {
        let unread = ["webhooks": "no answer within 2 s", "event feed": "no answer within 2 s"]
        #expect(
            Self.report { $0.unread = unread } == [
                "the event feed could not be looked at: no answer within 2 s",
                "the webhooks could not be looked at: no answer within 2 s",
            ])
        let away = Self.report {
            $0.unread = unread
            $0.unreadStages = ["verifier": "no coordinator"]
            ($0.ledger, $0.rejected, $0.receivers) = (.unreadable("x"), .unreadable("x"), .unreadable("x"))
            ($0.recovery, $0.unpublished, $0.blocked) = (.unreadable("x"), .unreadable("x"), .unreadable("x"))
        }
        #expect(
            away == [
                "the database is unavailable; check that Postgres runs and answers (disk, connections)",
                "the lag of verifier could not be looked at: no coordinator",
            ])
    }

    @Test func `Attention reports endpoints of webhooks that are disabled, fail or are late, and what to do`() {
        func sentences(_ state: String, oldest: Double? = nil) -> [String] {
            Self.report {
                $0.webhooks = [
                    .init(
                        id: "1", url: "https://example.com/", state: state, lastFault: "answered 500",
                        waiting: oldest == nil ? 0 : 2, oldest: oldest.map { Self.now.addingTimeInterval(-$0) })
                ]
            }
        }
        #expect(sentences("active", oldest: 800) == [] && sentences("paused", oldest: 9000) == [])
        #expect(sentences("testing") == [] && sentences("testing", oldest: 800) == [])
        // Created, or resumed while its receiver is still away: nothing else says so.
        #expect(
            sentences("testing", oldest: 1000).first?.contains("has not answered its test: answered 500; events of 2")
                == true)
        #expect(
            sentences("active", oldest: 1000).first?.contains("late: answered 500; events of 2 purchases wait") == true)
        #expect(sentences("failing").first?.contains("is failing: answered 500") == true)
        #expect(sentences("disabled").first?.hasSuffix("then storekeeper webhooks resume 1") == true)
    }

    @Test func `Attention reports refund requests that were missed, answers that Apple rejected and answers that wait`()
    {
        let sentences = Self.report {
            $0.refunds = [
                .init(app: "a", environment: "Production", open: 3, deadline: Self.now.addingTimeInterval(3600)),
                .init(
                    app: "b", environment: "Sandbox", open: 2, deadline: Self.now.addingTimeInterval(3600), waiting: 2,
                    oldestWaiting: Self.now.addingTimeInterval(-3600), missed: 1, failed: 2),
            ]
        }
        #expect(sentences.count == 3 && sentences.allSatisfy { $0.contains("b in Sandbox") })
        #expect(sentences[0].hasPrefix("1 refund request of b") && sentences[1].hasPrefix("Apple rejected 2 answers"))
        #expect(sentences[2].contains("2 answers to refund requests of b in Sandbox wait for Apple, the oldest for"))
    }

    @Test func `Attention reports figures of revenue that are late, and those that differ from what was paid`() {
        let late = Self.report { $0.figures = .init(asOf: Self.now.addingTimeInterval(-1000)) }
        #expect(late.count == 1 && late[0].hasPrefix("the figures of revenue are as of 16 min"))
        let wrong = Self.report { $0.figures = .init(asOf: Self.now, checkedAt: Self.now, differences: 2) }
        #expect(wrong.count == 1 && wrong[0].hasPrefix("the last check found 2 figures"))
        let unchecked = Self.report {
            $0.figures = .init(asOf: Self.now, uncheckedSince: Self.now.addingTimeInterval(-3 * 86_400))
        }
        #expect(unchecked.count == 1 && unchecked[0].hasPrefix("the figures of revenue were last checked 3 d"))
        #expect(Self.report { $0.figures = .init(uncheckedSince: Self.now.addingTimeInterval(-86_400)) } == [])
        #expect(Self.report { $0.figures = .init() } == [])
    }

    @Test func `Attention names the transaction for which the feed of events has waited for more than 30 seconds`() {
        func sentences(for seconds: Double) -> [String] {
            Self.report {
                $0.feedBlocker = .init(
                    since: Self.now, seconds: seconds, by: "session 7 (user ann) has not ended",
                    remedy: "select pg_terminate_backend(7)")
            }
        }
        #expect(sentences(for: 29) == [])
        #expect(sentences(for: 120).count == 1)
        #expect(
            sentences(for: 120).first?.hasPrefix("GET /v1/events shows no event that was stored within the last 2 min")
                == true)
        #expect(
            sentences(for: 120).first?.hasSuffix("has not ended; end it, or select pg_terminate_backend(7)") == true)
    }

    @Test func `Attention waits for the first minute of a new pipeline's receivers`() {
        let sentences = Self.report {
            $0.receivers = .read([])
            $0.isYoung = true
        }
        #expect(sentences == [])
    }

    @Test func `Attention ignores days that were given up long ago, and reports what is missing beside them`() {
        func sentences(missing: Int64) -> [String] {
            Self.report {
                $0.recovery = .read(
                    RecoveryStatus(
                        missing: [.init(bundleId: "app", environment: "Production", count: missing)],
                        incompleteDays: [.init(bundleId: "app", environment: "Production", waiting: 0, givenUp: 3)]))
            }
        }
        #expect(sentences(missing: 3) == [])
        #expect(sentences(missing: 5).map { $0.prefix(19) } == ["2 notifications of "])
    }

    @Test func `Attention reports restores that were rejected because purchases moved too often, by app`() {
        let sentences = Self.report {
            $0.rejectedTransfers = [.init(app: "com.example.app", environment: "Sandbox", purchases: 2)]
        }
        #expect(sentences.count == 1)
        #expect(sentences.first?.hasPrefix("restores of 2 purchases of com.example.app in Sandbox") == true)
        #expect(sentences.first?.contains("storekeeper customers shared --app com.example.app") == true)
    }

    @Test func `Attention hints at stored offsets of partitions that do not exist, which are no problem`() {
        var report = PipelineStatus(
            at: Self.now, stages: .read([.init(name: "state-updater", topic: "t", waiting: 0)]),
            ledger: .read(.init(sample: 0)), rejected: .read([]), receivers: .read([]),
            recovery: .read(RecoveryStatus()))
        #expect(Attention().hints(on: report) == [])
        report.stages = .read([.init(name: "state-updater", topic: "t", waiting: 0, orphanedPartitions: [16, 17])])
        let hints = Attention().hints(on: report)
        #expect(hints.count == 1)
        #expect(hints.first?.contains("(16, 17)") == true)
        #expect(hints.first?.contains("storekeeper offsets reset") == true)
    }

    @Test func `Attention hints at a longer time where something did not answer within it, and nowhere else`() {
        func hints(_ problem: String) -> [String] {
            let report = PipelineStatus(
                at: Self.now, stages: .unreadable(problem), ledger: .read(.init(sample: 0)), rejected: .read([]),
                receivers: .read([]), recovery: .read(RecoveryStatus()))
            return Attention().hints(on: report)
        }
        #expect(hints("no answer within 2 s").first?.contains("a longer --timeout") == true)
        #expect(hints("connection refused") == [])
    }

    @Test func `Attention says each problem once, with what to do`() {
        let wrong: [(String, (inout PipelineStatus) -> Void)] = [
            ("Kafka", { $0.stages = .unreadable("away") }),
            ("database", { $0.ledger = .unreadable("away") }),
            ("the database's clock is 600 s ahead of this machine's", { $0.clockDifference = 600 }),
            ("the database's clock is 6 s behind this machine's", { $0.clockDifference = -6 }),
            (
                "the clock of receiver a is at least 10 min",
                {
                    $0.receivers = .read([
                        .init(instance: "a", lastMinute: Self.now.addingTimeInterval(600), accepted: 1, rejected: 0)
                    ])
                }
            ),
            (
                "verifier is 61 s behind",
                {
                    $0.stages = .read([.init(name: "verifier", topic: "t", waiting: 3, behindSeconds: 61)])
                }
            ),
            ("no receiver", { $0.receivers = .read([]) }),
            (
                // The sender of what Apple signed may be Apple, and is not to be blocked.
                "verifier rejected at least 408 notifications within 24 hours that Apple had signed, most of them for app-mismatch",
                {
                    $0.rejected = .read([
                        .init(stage: "verifier", reason: "app-mismatch", count: 408, recent: 300),
                        .init(stage: "verifier", reason: "signature", count: 150, recent: 150),
                    ])
                }
            ),
            (
                "receiver a has sent no heartbeat for 4 min: restart it, unless it was killed on purpose",
                {
                    let minute = Self.now.addingTimeInterval(-300)
                    $0.receivers = .read([.init(instance: "a", lastMinute: minute, accepted: 1, rejected: 0)])
                }
            ),
            (
                "once the cause is repaired storekeeper dead-letters replay --all --stage state-updater --reason undecodable",
                {
                    $0.rejected = .read([.init(stage: "state-updater", reason: "undecodable", count: 1)])
                }
            ),
            (
                "verifier rejected at least 40001 notifications within 24 hours, most of them for chain-untrusted",
                {
                    $0.rejected = .read([
                        .init(stage: "verifier", reason: "signature", count: 1),
                        .init(stage: "verifier", reason: "chain-untrusted", count: 40_000),
                    ])
                }
            ),
            (
                "App Store Connect sends version 1 of the notifications of app in Production (3 within 24 hours, the last 60 s ago)",
                {
                    $0.version1 = [
                        .init(
                            app: "app", environment: "Production", count: 3, last: Self.now.addingTimeInterval(-60))
                    ]
                }
            ),
            (
                "2 notifications of app Production are missing",
                {
                    $0.recovery = .read(
                        RecoveryStatus(missing: [.init(bundleId: "app", environment: "Production", count: 2)]))
                }
            ),
            (
                "test notification of app Production is unreached, Apple says TIMED_OUT: ingest answered too late",
                {
                    $0.recovery = .read(
                        RecoveryStatus(canaries: [
                            .init(
                                bundleId: "app", environment: "Production", requestedAt: Self.now, outcome: "unreached",
                                attemptResult: "TIMED_OUT")
                        ]))
                }
            ),
            (
                "window w of Apple's history failed: too old",
                {
                    $0.recovery = .read(
                        RecoveryStatus(unsettled: [
                            .init(id: "w", reason: "sweep", state: "failed", openedAt: Self.now, lastError: "too old")
                        ]))
                }
            ),
            (
                "window w of Apple's history has been open for 2 h",
                {
                    let before = Self.now.addingTimeInterval(-7200)
                    $0.recovery = .read(
                        RecoveryStatus(unsettled: [.init(id: "w", reason: "sweep", state: "open", openedAt: before)]))
                }
            ),
            (
                "3 customers of app Production wait for their history: the key",
                {
                    let before = Self.now.addingTimeInterval(-7200)
                    $0.recovery = .read(
                        RecoveryStatus(postponed: [
                            .init(
                                bundleId: "app", environment: "Production", requests: 3, since: before,
                                lastError: "the key")
                        ]))
                }
            ),
            (
                "failed deliveries to app Production were last checked 3 h 0 min ago",
                {
                    let before = Self.now.addingTimeInterval(-10_800)
                    $0.recovery = .read(
                        RecoveryStatus(coverage: [
                            .init(bundleId: "app", environment: "Production", kind: "failures", completeUntil: before)
                        ]))
                }
            ),
        ]
        for (words, change) in wrong {
            let sentences = Self.report(change)
            #expect(sentences.count == 1, "\(words)")
            #expect(sentences.first?.contains(words) == true, "\(sentences)")
        }
    }
}
