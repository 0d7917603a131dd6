package dev.holdfast.spring.boot;

import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.delete;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.content;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.testkit.TestLocks;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.invoke.convert.ConversionServiceParameterValueMapper;
import org.springframework.boot.actuate.endpoint.web.EndpointLinksResolver;
import org.springframework.boot.actuate.endpoint.web.EndpointMapping;
import org.springframework.boot.actuate.endpoint.web.EndpointMediaTypes;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpointDiscoverer;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.webmvc.actuate.endpoint.web.WebMvcEndpointHandlerMapping;
import org.springframework.context.ApplicationContext;
import org.springframework.mock.web.MockServletContext;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.context.support.GenericWebApplicationContext;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;

/** The endpoint as Spring MVC serves it. Apart, since Spring Boot 3 has that elsewhere. */
class EndpointOverHttpTest {
    @AutoClose
    private final TestLocks locks = TestLocks.standing();

    @Test
    void aLockWithSlashesInItsNameIsBroken() {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(HoldfastAutoConfiguration.class, HoldfastActuatorAutoConfiguration.class))
                .withBean("lockClient", LockClient.class, locks::client)
                .withPropertyValues("management.endpoints.web.exposure.include=locks")
                .run(context -> {
                    Hold hold = locks.client().lock("account/38").acquire();
                    served(context)
                            .perform(delete("/actuator/locks/lockClient/account/38")
                                    .principal(() -> "admin")
                                    .param("token", Long.toString(hold.token()))
                                    .param("now", "true"))
                            .andExpect(status().isOk())
                            .andExpect(content().string("broken"));
                    locks.somebodyElse().take("account/38");
                });
    }

    private static MockMvc served(ApplicationContext context) {
        var endpoints = new WebEndpointDiscoverer(
                        context,
                        new ConversionServiceParameterValueMapper(),
                        EndpointMediaTypes.DEFAULT,
                        List.of(),
                        List.of(),
                        List.of(),
                        List.of(),
                        List.of())
                .getEndpoints();
        GenericWebApplicationContext web = new GenericWebApplicationContext(new MockServletContext());
        web.registerBean(RequestMappingHandlerAdapter.class);
        web.registerBean(
                WebMvcEndpointHandlerMapping.class,
                () -> new WebMvcEndpointHandlerMapping(
                        new EndpointMapping("/actuator"),
                        endpoints,
                        EndpointMediaTypes.DEFAULT,
                        new CorsConfiguration(),
                        new EndpointLinksResolver(endpoints),
                        true));
        web.refresh();
        return MockMvcBuilders.webAppContextSetup(web).build();
    }
}
