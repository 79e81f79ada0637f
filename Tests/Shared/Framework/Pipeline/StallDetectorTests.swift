import Testing

@testable import Pipeline

@Suite struct StallDetectorTests {
    private let start = ContinuousClock.now
    private let backlog = StallDetector.Backlog(topic: "in", partitions: 2, records: 7)

    private func after(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    @Test func `StallDetector reports a minute in which records wait and none is processed`() {
        var detector = StallDetector()
        detector.observed(backlog, at: start)
        #expect(detector.complaint(at: after(60)) == nil)
        #expect(!detector.isHung(at: after(60)))
        #expect(
            detector.complaint(at: after(61))
                == "has processed no record for 61 s although 7 wait in 2 partitions of in; "
                + "the Kafka client delivers none and reports no error")
        #expect(detector.isHung(at: after(61)))
    }

    @Test func `StallDetector counts from the last processed record`() {
        var detector = StallDetector()
        detector.observed(backlog, at: start)
        detector.received(at: after(49))
        detector.handled(at: after(50))
        detector.observed(backlog, at: after(55))
        #expect(detector.complaint(at: after(110)) == nil)
        #expect(detector.duration(at: after(110)) == .seconds(60))
        #expect(detector.complaint(at: after(111)) != nil)
    }

    @Test func `StallDetector reports nothing where nothing waits`() {
        var detector = StallDetector()
        detector.observed(backlog, at: start)
        detector.observed(nil, at: after(59))
        #expect(detector.complaint(at: after(1000)) == nil)
        detector.observed(backlog, at: after(1000))
        #expect(detector.complaint(at: after(1059)) == nil)
    }

    /// Of a worker without partitions.
    private func group(settled: Int64) -> StallDetector.Backlog {
        StallDetector.Backlog(topic: "in", partitions: 2, records: 7, settledByGroup: settled)
    }

    @Test func `StallDetector is content without partitions while others of the group settle records`() {
        var detector = StallDetector()
        for second in stride(from: 0, through: 1200, by: 30) {
            detector.observed(group(settled: Int64(second)), at: after(second))
            #expect(detector.complaint(at: after(second + 29)) == nil)
        }
        detector.observed(backlog, at: after(1230))
        #expect(detector.complaint(at: after(1290)) == nil, "partitions that were just assigned begin afresh")
    }

    @Test func `StallDetector complains without partitions where no instance settles, and hangs after ten minutes`() {
        var detector = StallDetector()
        for second in stride(from: 0, through: 600, by: 30) { detector.observed(group(settled: 3), at: after(second)) }
        #expect(
            detector.complaint(at: after(61))
                == "owns no partition although 7 records wait in in, of which no instance has committed any for 61 s")
        #expect(detector.silence(at: after(600)) == .zero && !detector.isHung(at: after(600)))
        #expect(detector.isHung(at: after(601)))
    }

    @Test func `StallDetector counts a batch in hand as a stall after half a minute, and never as a hang`() {
        var detector = StallDetector()
        detector.received(at: start)
        detector.observed(backlog, at: after(5))
        #expect(detector.duration(at: after(30)) == .zero && detector.complaint(at: after(30)) == nil)
        #expect(detector.duration(at: after(31)) == .seconds(31))
        #expect(
            detector.complaint(at: after(31))
                == "has not finished a batch of records for 31 s; it waits for an answer of a dependency")
        #expect(detector.silence(at: after(4000)) == .zero && !detector.isHung(at: after(4000)))
        detector.handled(at: after(4000))
        #expect(detector.duration(at: after(4000)) == .zero && detector.complaint(at: after(4000)) == nil)
    }

    @Test func `StallDetector counts a batch from its first attempt and names the error, and failing is no hang`() {
        var detector = StallDetector()
        for second in stride(from: 5, through: 4000, by: 20) {
            detector.received(at: after(second))
            detector.observed(backlog, at: after(second + 1))
            detector.failed("connection refused", at: after(second + 10))
        }
        #expect(
            detector.complaint(at: after(4000))
                == "has not finished a batch of records for 3995 s; every attempt fails: connection refused")
        #expect(detector.duration(at: after(4000)) == .seconds(3995))
        #expect(!detector.isHung(at: after(4000)))
    }

    @Test func `StallDetector forgets a batch whose partitions went to another instance`() {
        var detector = StallDetector()
        detector.received(at: start)
        detector.failed("another worker holds the partition", at: after(1))
        detector.ownsNothing()
        #expect(detector.complaint(at: after(100)) == nil)
        detector.received(at: after(100))
        detector.failed("another worker holds the partition", at: after(101))
        detector.observed(nil, at: after(102))
        #expect(detector.duration(at: after(1000)) == .zero)
    }

    @Test func `StallDetector reports a hang when nothing follows a failed attempt`() {
        var detector = StallDetector()
        detector.observed(backlog, at: start)
        detector.failed("delivery failed", at: after(10))
        #expect(!detector.isHung(at: after(70)))
        #expect(detector.isHung(at: after(71)))
        #expect(detector.complaint(at: after(71))?.contains("since an attempt failed: delivery failed") == true)
        detector.observed(backlog, clientError: "NOT_COORDINATOR", at: after(72))
        #expect(detector.complaint(at: after(72))?.hasSuffix("last reported: NOT_COORDINATOR") == true)
    }
}
