import CRDKafka

/// The librdkafka of this process, which may be newer than the one it was built against.
public enum KafkaLibrary {
    /// `0xMMmmrrpp`: major, minor, revision, and 0xff for a release.
    public static var version: Int32 { rd_kafka_version() }
}
