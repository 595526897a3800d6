"""Neutron without agents.

Ports bind on whatever host asks and are ACTIVE from then on; router ports find a host by themselves; floating IPs turn
ACTIVE or DOWN shortly after their port comes or goes. Whatever else happens is Neutron's own doing.
"""
import eventlet
from neutron.db.models import l3
from neutron_lib import constants
from neutron_lib import context as contexts
from neutron_lib.api.definitions import portbindings
from neutron_lib.callbacks import events
from neutron_lib.callbacks import registry
from neutron_lib.callbacks import resources
from neutron_lib.db import api as database
from neutron_lib.plugins import directory
from neutron_lib.plugins.ml2 import api as ml2
from oslo_log import log as logging

LOG = logging.getLogger(__name__)

ROUTER_HOST = 'network-host'
ATTEMPTS = 5


class EveryPortBinds(ml2.MechanismDriver):
    """The L2 agent's part, and the door to the L3 agent's."""

    def initialize(self):
        PretendedRouting().listen()

    @property
    def connectivity(self):
        return portbindings.CONNECTIVITY_L2

    def bind_port(self, context):
        candidates = context.segments_to_bind
        if not candidates:
            return
        details = {
            portbindings.CAP_PORT_FILTER: True,
            portbindings.OVS_HYBRID_PLUG: False,
            portbindings.VIF_DETAILS_BRIDGE_NAME: 'br-int',
        }
        context.set_binding(candidates[0][ml2.ID], portbindings.VIF_TYPE_OVS,
                            details, status=constants.PORT_STATUS_ACTIVE)


class PretendedRouting:
    """The L3 agent's part."""

    def listen(self):
        wanted = [
            (self.floating_ip_written, resources.FLOATING_IP, events.AFTER_CREATE),
            (self.floating_ip_written, resources.FLOATING_IP, events.AFTER_UPDATE),
            (self.port_gone, resources.PORT, events.AFTER_DELETE),
            (self.router_connected, resources.ROUTER_INTERFACE, events.AFTER_CREATE),
            (self.router_connected, resources.ROUTER_GATEWAY, events.AFTER_CREATE),
        ]
        for callback, resource, event in wanted:
            registry.subscribe(callback, resource, event)

    # An agent reports after the request has been answered. Writing inside the
    # request would besides wait for a row that the request itself has locked.
    def floating_ip_written(self, resource, event, trigger, payload):
        eventlet.spawn_after(0.1, self._settle, payload.resource_id)

    def port_gone(self, resource, event, trigger, payload):
        eventlet.spawn_after(0.5, self._settle, None)

    def _settle(self, floating_ip):
        """Makes the status say whether there is a port: of one address, or of all that lost theirs."""
        for attempt in range(ATTEMPTS):
            try:
                self._write_status(floating_ip)
                return
            except Exception:  # a deadlock, most often
                LOG.exception('status of floating IPs not written (%d)', attempt)
                eventlet.sleep(1)

    @staticmethod
    def _write_status(floating_ip):
        context = contexts.get_admin_context()
        with database.CONTEXT_WRITER.using(context):
            addresses = context.session.query(l3.FloatingIP)
            if floating_ip:
                addresses = addresses.filter_by(id=floating_ip)
            else:
                addresses = addresses.filter(l3.FloatingIP.fixed_port_id.is_(None))
            for address in addresses:
                status = (constants.FLOATINGIP_STATUS_ACTIVE
                          if address.fixed_port_id
                          else constants.FLOATINGIP_STATUS_DOWN)
                if address.status != status:
                    address.status = status

    @staticmethod
    def router_connected(resource, event, trigger, payload):
        plugin = directory.get_plugin()
        context = contexts.get_admin_context()
        owners = [constants.DEVICE_OWNER_ROUTER_INTF, constants.DEVICE_OWNER_ROUTER_GW]
        of_router = {'device_id': [payload.resource_id], 'device_owner': owners}
        try:
            for port in plugin.get_ports(context, filters=of_router):
                if port.get(portbindings.HOST_ID):
                    continue
                plugin.update_port(context, port['id'],
                                   {'port': {portbindings.HOST_ID: ROUTER_HOST}})
        except Exception:  # the request itself has succeeded and must stay so
            LOG.exception('a port of router %s has no host', payload.resource_id)
