import Testing

@testable import ServerAPI

@Suite struct TokenBucketTests {
    /// The moments that so many requests get, all of which come at once.
    private static func moments(_ count: Int, of bucket: inout TokenBucket, at now: Duration = .zero) -> [Duration] {
        (0..<count).map { _ in
            let moment = bucket.moment(at: now)
            bucket.take(moment)
            return moment
        }
    }

    @Test func `Requests go at even distances after a short burst`() {
        var bucket = TokenBucket(perSecond: 50, burst: 3)
        #expect(
            Self.moments(6, of: &bucket) == [0, 0, 0, 20, 40, 60].map { .milliseconds($0) })
    }

    @Test func `TokenBucket lets through at most rate and burst in any second`() {
        var bucket = TokenBucket(perSecond: 50, burst: 5)
        let moments = Self.moments(1000, of: &bucket)
        for start in stride(from: 0, to: 10_000, by: 7) {
            let second = Duration.milliseconds(start)..<Duration.milliseconds(start + 1000)
            #expect(moments.filter { second.contains($0) }.count <= 54)
        }
        #expect(moments.last == .milliseconds(995 * 20))
    }

    @Test func `Pause gives back no more than the burst`() {
        var bucket = TokenBucket(perSecond: 1, burst: 2)
        _ = Self.moments(2, of: &bucket)
        #expect(
            Self.moments(4, of: &bucket, at: .seconds(3600)) == [3600, 3600, 3601, 3602].map { .seconds($0) })
    }

    @Test func `Closed bucket voids the moments before and gives out later ones`() {
        var bucket = TokenBucket(perSecond: 10, burst: 1)
        let before = Self.moments(3, of: &bucket)
        bucket.close(until: .seconds(9))
        #expect(before.map { bucket.isOpen(at: $0) } == [false, false, false])
        #expect(
            Self.moments(3, of: &bucket, at: .seconds(1)) == [9000, 9100, 9200].map { .milliseconds($0) })
        #expect(bucket.isOpen(at: .seconds(9)))
        bucket.close(until: .seconds(2))
        #expect(bucket.moment(at: .seconds(1)) == .milliseconds(9300), "an earlier time must not open it")
    }
}
