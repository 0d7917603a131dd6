package dev.holdfast.flashsale.node;

import dev.holdfast.flashsale.scene.Part;
import dev.holdfast.flashsale.scene.Span;
import dev.holdfast.flashsale.scene.Stage;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/** Plays a part of a scene, for the program that has started this server; the balancer does not pass this path on. */
@RestController
final class SceneController {
    private final Stage stage;
    private final Secret secret;

    SceneController(Stage stage, Secret secret) {
        this.stage = stage;
        this.secret = secret;
    }

    @PostMapping("/scenes/{scene}")
    List<Span> play(
            @PathVariable String scene,
            @RequestHeader(name = "Host", defaultValue = "") String host,
            @RequestHeader(name = "Sale-Secret", defaultValue = "") String said,
            @RequestBody Part part)
            throws InterruptedException {
        secret.check(host, said);
        return stage.play(scene, part)
                .orElseThrow(() -> new Refusal(HttpStatus.NOT_FOUND, "There is no scene '" + scene + "'."));
    }
}
