package dev.holdfast.sim;

import java.util.List;

/** Everything bad that befalls machines and server, planned at the start of a schedule; messages have bad luck of their own. */
final class Nemesis {
    private final World world;
    private final Dice dice;
    private final Setting setting;
    private final Server server;
    private final List<Machine> machines;

    Nemesis(World world, Setting setting, Server server, List<Machine> machines) {
        this.world = world;
        this.dice = world.dice;
        this.setting = setting;
        this.server = server;
        this.machines = machines;
    }

    void plan() {
        for (int i = 0; i < setting.faults(); i++) {
            Runnable fault = fault(machines.get(dice.below(machines.size())));
            world.at(dice.between(0, setting.chaos()), World.NATURE, fault);
        }
    }

    private Runnable fault(Machine machine) {
        int kind = dice.below(100);
        long aLease = dice.part(setting.lease(), 5, 150);
        if (kind < 20) {
            return () -> machine.crash(aLease);
        } else if (kind < 35) {
            return () -> machine.pauseFor(aLease);
        } else if (kind < 50) {
            return () -> cut(machine, aLease);
        } else if (kind < 65) {
            return () -> sleepOrStep(machine, aLease);
        } else if (kind < 75) {
            return () -> closeClient(machine, aLease);
        } else if (kind < 85) {
            return () -> server.pauseFor(aLease);
        }
        return restartOrStep(aLease, dice.percent(50));
    }

    private Runnable restartOrStep(long aLease, boolean one) {
        return switch (setting.weakness()) {
            case NONE -> () -> server.restartAfter(aLease);
            case FORGETS -> () -> restartEmpty(one ? aLease : setting.restartDelay(), one);
            case CLOCK -> () -> server.stepClock(one ? aLease : -aLease);
        };
    }

    private void restartEmpty(long span, boolean tooSoon) {
        server.restartEmptyAfter(span, tooSoon);
        for (Machine machine : machines) {
            Client client = machine.client();
            world.after(span, client, client::reconnected);
        }
    }

    private void cut(Machine machine, long span) {
        machine.link.cutFor(span);
        Client client = machine.client();
        world.after(span, client, client::reconnected);
    }

    /** A sleep shorter than what the engine can notice, and one hidden by a wall clock set back, are out of the model. */
    private void sleepOrStep(Machine machine, long aLease) {
        if (setting.sleeps()) {
            if (dice.percent(70)) {
                machine.sleepFor(Math.max(aLease, 150_000_000));
            } else {
                machine.stepWall(aLease);
            }
        } else {
            machine.stepWall(dice.percent(50) ? aLease : -aLease);
        }
    }

    private void closeClient(Machine machine, long restartAfter) {
        Client client = machine.client();
        if (client.isAlive() && !client.isClosing()) {
            world.after(0, client, client::close);
            world.after(restartAfter, machine, () -> {
                if (client.isAlive()) {
                    machine.boot();
                }
            });
        }
    }
}
