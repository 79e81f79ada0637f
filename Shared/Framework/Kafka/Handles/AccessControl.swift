import CRDKafka

/// Reads and extends the brokers' access-control list.
extension AdminHandle {
    /// Entries that allow what a service may need, of all principals.
    func accessControlEntries(timeout: Duration) throws -> Set<AccessControlEntry> {
        let doing = "read the access-control list"
        try requireController(doing, timeout: timeout)
        let filter = rd_kafka_AclBindingFilter_new(
            RD_KAFKA_RESOURCE_ANY, nil, RD_KAFKA_RESOURCE_PATTERN_ANY, nil, nil, RD_KAFKA_ACL_OPERATION_ANY,
            RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, nil, 0)
        defer { rd_kafka_AclBinding_destroy(filter) }
        return try answer(to: RD_KAFKA_ADMIN_OP_DESCRIBEACLS, within: timeout, doing: doing) {
            rd_kafka_DescribeAcls($0, filter, $1, $2)
        } reading: { event in
            var count = 0
            let list = rd_kafka_DescribeAcls_result_acls(rd_kafka_event_DescribeAcls_result(event), &count)
            return Set((0..<count).compactMap { AccessControlEntry(list?[$0]) })
        }
    }

    /// Adds entries. One that exists stays as it is.
    func create(_ entries: [AccessControlEntry], timeout: Duration) throws {
        let doing = "extend the access-control list"
        try requireController(doing, timeout: timeout)
        var bindings: [OpaquePointer?] = entries.map { $0.binding() }
        defer { for binding in bindings { rd_kafka_AclBinding_destroy(binding) } }
        try answer(to: RD_KAFKA_ADMIN_OP_CREATEACLS, within: timeout, doing: doing) {
            rd_kafka_CreateAcls($0, &bindings, bindings.count, $1, $2)
        } reading: { event in
            var count = 0
            let list = rd_kafka_CreateAcls_result_acls(rd_kafka_event_CreateAcls_result(event), &count)
            for index in 0..<count {
                guard let error = rd_kafka_acl_result_error(list?[index]) else { continue }
                throw KafkaError(
                    rd_kafka_error_code(error), doing: doing, detail: String(cString: rd_kafka_error_string(error)))
            }
        }
    }

    private func requireController(_ doing: String, timeout: Duration) throws {
        guard try !hasController(timeout: timeout) else { return }
        throw KafkaError(
            RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE, doing: doing, detail: "the development broker has none")
    }
}

extension AccessControlEntry {
    /// Nil for what none of our services needs.
    fileprivate init?(_ binding: OpaquePointer?) {
        guard let name = rd_kafka_AclBinding_name(binding), let principal = rd_kafka_AclBinding_principal(binding),
            rd_kafka_AclBinding_host(binding).map(String.init(cString:)) == "*",
            let operation = Operation.allCases.first(where: { $0.number == rd_kafka_AclBinding_operation(binding) })
        else { return nil }
        let resource: Resource
        switch (rd_kafka_AclBinding_restype(binding), rd_kafka_AclBinding_resource_pattern_type(binding)) {
        case (RD_KAFKA_RESOURCE_TOPIC, RD_KAFKA_RESOURCE_PATTERN_LITERAL): resource = .topic(String(cString: name))
        case (RD_KAFKA_RESOURCE_GROUP, RD_KAFKA_RESOURCE_PATTERN_PREFIXED):
            resource = .groups(prefix: String(cString: name))
        default: return nil
        }
        self.init(principal: String(cString: principal), resource: resource, operation: operation)
    }

    /// Freed by the caller.
    fileprivate func binding() -> OpaquePointer? {
        let (kind, name, pattern) =
            switch resource {
            case .topic(let name): (RD_KAFKA_RESOURCE_TOPIC, name, RD_KAFKA_RESOURCE_PATTERN_LITERAL)
            case .groups(let prefix): (RD_KAFKA_RESOURCE_GROUP, prefix, RD_KAFKA_RESOURCE_PATTERN_PREFIXED)
            }
        return rd_kafka_AclBinding_new(
            kind, name, pattern, principal, "*", operation.number, RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, nil, 0)
    }
}

extension AccessControlEntry.Operation {
    fileprivate var number: rd_kafka_AclOperation_t {
        switch self {
        case .read: RD_KAFKA_ACL_OPERATION_READ
        case .write: RD_KAFKA_ACL_OPERATION_WRITE
        case .create: RD_KAFKA_ACL_OPERATION_CREATE
        case .describe: RD_KAFKA_ACL_OPERATION_DESCRIBE
        case .describeConfigs: RD_KAFKA_ACL_OPERATION_DESCRIBE_CONFIGS
        case .alterConfigs: RD_KAFKA_ACL_OPERATION_ALTER_CONFIGS
        }
    }
}
