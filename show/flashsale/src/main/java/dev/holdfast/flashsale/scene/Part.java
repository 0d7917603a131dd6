package dev.holdfast.flashsale.scene;

/**
 * What an actor of a scene is to do.
 *
 * @param run names this playing of the scene: locks and notes of two have different names
 * @param way how the scene guards itself
 * @param server the server that plays it
 * @param actor the number of the actor, from 0
 */
public record Part(String run, String way, int server, int actor) {}
