#pragma once
// Asks every source at once and puts their answers side by side.
#include "device/probe/children.h"
#include "device/probe_report.h"

namespace arena {

ProbeReport list_devices(const ChildLimits& limits);

// Of one source, what its child told before it ended, however it ended. Pure.
SourceReport assemble_source(SourceKind kind, const ChildOutcome& outcome);

}  // namespace arena
