# A dumbbell of long flows in ns-2: the scenario of a longfat file, and what longfat would measure.
#
#     ns dumbbell.tcl SCENARIO RESULT
#
# SCENARIO has one thing to a line, as README.md beside this file says; RESULT gets the same kind of lines. Each flow
# has a host whose access link holds what the link leaves of its round trip, or a part of that; the other part is in
# the access link of a host beyond the link, where there is one. Otherwise the receiver is at the router.

lassign $argv scenario_file result_file
set flows {}
set channel [open $scenario_file]
foreach line [split [read $channel] "\n"] {
    switch -- [lindex $line 0] {
        top  { set top [lrange $line 1 end] }
        link { dict set links [lindex $line 1] [lrange $line 2 end] }
        flow { lappend flows [lrange $line 1 end] }
    }
}
close $channel

# Headers that nothing here uses cost memory and time.
remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
ns-random [dict get $top seed]

# --- the link -----------------------------------------------------------------------------------------------------

# The queue of one direction, through the defaults of its class, which a new link takes over.
proc set_queue {link} {
    set packet [dict get $link packet]
    set in_bytes [expr {[dict get $link unit] eq "bytes"}]
    # ns-2 refuses what would fill the last place: it has to be given one more.
    global top
    set spare [dict get $top spare_place]
    if {[dict get $link queue] eq "drop-tail"} {
        Queue/DropTail set queue_in_bytes_ $in_bytes
        Queue/DropTail set mean_pktsize_ 1
        Queue/DropTail set limit_ [expr {[dict get $link buffer] + $spare}]
        return DropTail
    }
    # Thresholds, and the limit, are packets of the mean size in either mode.
    set unit [expr {$in_bytes ? double($packet) : 1.0}]
    Queue/RED set bytes_ $in_bytes
    Queue/RED set queue_in_bytes_ $in_bytes
    Queue/RED set mean_pktsize_ $packet
    Queue/RED set limit_ [expr {int([dict get $link buffer] / $unit) + $spare}]
    Queue/RED set thresh_ [expr {[dict get $link min] / $unit}]
    Queue/RED set maxthresh_ [expr {[dict get $link max] / $unit}]
    Queue/RED set q_weight_ [dict get $link weight]
    Queue/RED set linterm_ [expr {1.0 / [dict get $link max_p]}]
    Queue/RED set adaptive_ 0
    Queue/RED set gentle_ [dict get $link gentle]
    Queue/RED set wait_ [dict get $link wait]
    Queue/RED set setbit_ [dict get $link ecn]
    Queue/RED set use_mark_p_ [expr {![dict get $link mark_above_max]}]
    Queue/RED set mark_p_ [dict get $link max_p]
    return RED
}

set router(forward) [$ns node]
set router(reverse) [$ns node]
dict for {direction link} $links {
    set from $router($direction)
    set to $router([expr {$direction eq "forward" ? "reverse" : "forward"}])
    set kind [set_queue $link]
    $ns simplex-link $from $to [dict get $link rate] [dict get $link delay] $kind
    set monitor($direction) [new QueueMonitor]
    set backlog($direction) [new Integrator]
    if {[dict get $link unit] eq "bytes"} {
        $monitor($direction) set-bytes-integrator $backlog($direction)
    } else {
        $monitor($direction) set-pkts-integrator $backlog($direction)
    }
    [$ns link $from $to] attach-monitors \
        [new SnoopQueue/In] [new SnoopQueue/Out] [new SnoopQueue/Drop] $monitor($direction)
}

# --- the flows ----------------------------------------------------------------------------------------------------

Queue/DropTail set queue_in_bytes_ false
Queue/DropTail set limit_ 1000000000
Agent/TCP set useHeaders_ false
Agent/TCP set tcpTick_ [dict get $top tick]
# With time stamps a retransmission that arrives ends the doubling of time-outs.
Agent/TCP set timestamps_ [dict get $top timestamps]
Agent/TCP set ts_resetRTO_ [dict get $top timestamps]
Agent/TCP set window_ 100000000

proc connect_host {host router delay} {
    global ns
    $ns simplex-link $host $router 1e15 $delay DropTail
    $ns simplex-link $router $host 1e15 $delay DropTail
}

# ns-2 would look for routes between all pairs of nodes, which takes minutes for a thousand flows, and memory.
# Here there is one path from host to host, and one back.
set ways {}
Simulator instproc compute-routes {} {
    global ways
    foreach way $ways {
        for {set i 1} {$i < [llength $way]} {incr i} {
            set here [lindex $way [expr {$i - 1}]]
            set next [lindex $way $i]
            $here add-route [[lindex $way end] node-addr] [[$self link $here $next] head]
        }
    }
}

set number 0
foreach flow $flows {
    set near $router([dict get $flow direction])
    set far $router([expr {[dict get $flow direction] eq "forward" ? "reverse" : "forward"}])
    set host [$ns node]
    connect_host $host $near [dict get $flow delay_before]
    set end $far
    if {[dict get $flow delay_behind] ne "none"} {
        set end [$ns node]
        connect_host $end $far [dict get $flow delay_behind]
    }
    set there [expr {$end eq $far ? [list $host $near $far] : [list $host $near $far $end]}]
    lappend ways $there [lreverse $there]
    if {[dict get $flow recovery] eq "sack"} {
        set tcp [new Agent/TCP/Sack1]
        set sink [new Agent/TCPSink/Sack1]
    } else {
        set tcp [new Agent/TCP/Newreno]
        set sink [new Agent/TCPSink]
    }
    $ns attach-agent $host $tcp
    $ns attach-agent $end $sink
    $ns connect $tcp $sink
    $tcp set fid_ $number
    $tcp set packetSize_ [dict get $flow packet]
    $sink set packetSize_ 40
    $tcp set windowInit_ [dict get $flow initial_window]
    $tcp set minrto_ [dict get $flow rto_min]
    $tcp set ecn_ [dict get $flow ecn]
    if {[dict get $flow max_window] ne "none"} { $tcp set window_ [dict get $flow max_window] }
    switch -- [dict get $flow control] {
        reno { $tcp set windowOption_ 1 }
        hstcp {
            $tcp set windowOption_ 8
            foreach name {low_window high_window high_p high_decrease} {
                $tcp set ${name}_ [dict get $flow $name]
            }
        }
        stcp {
            # The binomial law that adds a·w segments per round trip, and keeps the share 1 - b.
            $tcp set windowOption_ 6
            $tcp set k_parameter_ -1.0
            $tcp set l_parameter_ 1.0
            $tcp set increase_num_ [dict get $flow a]
            $tcp set decrease_num_ [expr {1.0 - [dict get $flow b]}]
        }
    }
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [dict get $flow start] "$ftp start"
    set sender($number) $tcp
    incr number
}

# --- the measurement ----------------------------------------------------------------------------------------------

# Everything that is measured, as counted up to now.
proc reading {} {
    global ns number sender monitor backlog
    set now [$ns now]
    set found {}
    for {set i 0} {$i < $number} {incr i} {
        lappend found "flow $i delivered [expr {[$sender($i) set ack_] + 1}]"
    }
    foreach direction {forward reverse} {
        set m $monitor($direction)
        set b $backlog($direction)
        $b newpoint $now [$b set lasty_]
        lappend found "link $direction arrived [expr {wide([$m set parrivals_])}]\
            dropped [expr {wide([$m set pdrops_])}] marked [expr {wide([$m set pmarks_])}]\
            backlog_s [$b set sum_]"
    }
    return $found
}

proc begin {} {
    global began
    set began [clock microseconds]
}

set readings {}
proc read_now {} {
    global readings ns
    lappend readings "at [$ns now]" {*}[reading]
}

# Stops a run that takes too long, at the next of a thousand checks of the clock.
proc watch {every} {
    global began top ns
    if {[clock microseconds] - $began > 1e6 * [dict get $top cap]} { finish }
    $ns at [expr {[$ns now] + $every}] "watch $every"
}

proc finish {} {
    global ns began readings result_file
    set engine [expr {([clock microseconds] - $began) / 1e6}]
    set channel [open $result_file w]
    puts $channel "top engine_s $engine reached_s [$ns now]"
    read_now
    puts $channel [join $readings "\n"]
    close $channel
    exit 0
}

set duration [dict get $top duration]
$ns at 0.0 begin
# Eighths of the warm-up are used if a run is stopped within it.
set warmup [dict get $top warmup]
for {set eighth [expr {$warmup > 0 ? 1 : 8}]} {$eighth < 8} {incr eighth} {
    $ns at [expr {$warmup * $eighth / 8}] read_now
}
$ns at $warmup read_now
$ns at 0.0 "watch [expr {$duration / 1000.0}]"
$ns at $duration finish
$ns run
