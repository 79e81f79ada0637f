import COpenSSL

/// Reading and writing the textual form of certificates and keys.
enum PEMBlocks {
    /// Every certificate of a PEM text, as DER; other blocks are passed over.
    static func certificates(in text: [UInt8]) -> [[UInt8]] {
        // BIO_new_mem_buf does not copy, so everything happens while the bytes are borrowed.
        text.withUnsafeBytes { buffer in
            guard let memory = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else { return [] }
            defer {
                BIO_free(memory)
                ERR_clear_error()
            }
            var found: [[UInt8]] = []
            while let parsed = PEM_read_bio_X509(memory, nil, nil, nil) {
                found.append(CertificateHandle(takingOwnershipOf: parsed).encoded)
            }
            return found
        }
    }

    /// One block with the given label.
    static func block(_ label: String, der: [UInt8]) -> String {
        guard let memory = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(memory) }
        guard PEM_write_bio(memory, label, "", der, der.count) > 0 else { return "" }
        var contents: UnsafeMutablePointer<CChar>?
        let length = COpenSSL_memory_contents(memory, &contents)
        guard let contents, length > 0 else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: contents, count: length), as: UTF8.self)
    }
}
