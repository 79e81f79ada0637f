import Testing

@testable import ServerAPI

@Suite struct CallCourseTests {
    private static let error = APIError.unreachable("x")

    @Test func `Attempts end after as many as the policy says, after pauses that double`() {
        var course = CallCourse(APIRetryPolicy(attempts: 4, longestPause: .seconds(1)))
        let steps = (0..<4).map { _ in
            course.step(after: .transient(Self.error, pause: nil), chances: 2, random: 1)
        }
        #expect(
            steps == [
                .again(after: .milliseconds(500), else: Self.error), .again(after: .seconds(1), else: Self.error),
                .again(after: .seconds(1), else: Self.error), .fail(Self.error),
            ])
    }

    @Test func `Pause is spread over its second half`() {
        let policy = APIRetryPolicy()
        #expect(policy.pause(afterFailures: 1, random: 0) == .milliseconds(250))
        #expect(policy.pause(afterFailures: 1, random: 0.5) == .milliseconds(375))
        #expect(policy.pause(afterFailures: 3, random: 1) == .seconds(2))
        #expect(policy.pause(afterFailures: 1000, random: 1) == .seconds(30))
    }

    @Test func `Longer pause that the server wants is kept`() {
        var course = CallCourse(APIRetryPolicy())
        #expect(
            course.step(after: .transient(Self.error, pause: .seconds(9)), chances: 2, random: 1)
                == .again(after: .seconds(9), else: Self.error))
    }

    @Test func `429 is not counted among the attempts, and never without a pause`() {
        var course = CallCourse(APIRetryPolicy(attempts: 1))
        #expect(
            course.step(after: .tooMany(pause: .seconds(9)), chances: 2, random: 1) == .queue(closedFor: .seconds(9)))
        #expect(course.step(after: .tooMany(pause: nil), chances: 2, random: 1) == .queue(closedFor: .seconds(1)))
        #expect(course.step(after: .tooMany(pause: .zero), chances: 2, random: 1) == .queue(closedFor: .seconds(2)))
    }

    @Test func `429 closes for an hour at most, whatever Retry-After says`() {
        var course = CallCourse(APIRetryPolicy())
        #expect(
            course.step(after: .tooMany(pause: .seconds(86_400)), chances: 2, random: 1)
                == .queue(closedFor: .seconds(3600)))
    }

    @Test func `Token is rejected as often as there are keys, and once more for the clock`() {
        var course = CallCourse(APIRetryPolicy(attempts: 1))
        let steps = (0..<3).map { _ in course.step(after: .unauthorized(serverDate: nil), chances: 3, random: 1) }
        #expect(
            steps == [false, false, true].map { .reauthorize(serverDate: nil, isLastChance: $0) })
    }
}
