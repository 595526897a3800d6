"""Cinder without storage: whatever is asked of the back end has been done already."""
from cinder import interface
from cinder.volume import driver

DONE_ALREADY = (
    'check_for_setup_error', 'copy_image_to_volume', 'create_cloned_volume',
    'create_export', 'create_export_snapshot', 'create_snapshot',
    'create_volume', 'create_volume_from_snapshot', 'delete_snapshot',
    'delete_volume', 'do_setup', 'ensure_export', 'extend_volume',
    'initialize_connection_snapshot', 'remove_export',
    'remove_export_snapshot', 'terminate_connection',
    'terminate_connection_snapshot',
)


def _done(self, *args, **kwargs):
    return None


# Before the real base class, so that its abstract methods count as implemented.
DoneAlready = type('DoneAlready', (), {name: _done for name in DONE_ALREADY})


@interface.volumedriver
class StoragelessDriver(DoneAlready, driver.VolumeDriver):
    VERSION = '1.0'
    CI_WIKI_NAME = 'none'

    def get_volume_stats(self, refresh=False):
        return {
            'volume_backend_name': 'storageless',
            'vendor_name': 'pretended',
            'driver_version': self.VERSION,
            'storage_protocol': 'none',
            'total_capacity_gb': 1000000,
            'free_capacity_gb': 1000000,
            'provisioned_capacity_gb': 0,
            'reserved_percentage': 0,
            'max_over_subscription_ratio': '20.0',
            'thin_provisioning_support': True,
            'thick_provisioning_support': False,
            'multiattach': True,
            'QoS_support': False,
        }

    def clone_image(self, context, volume, image_location, image_meta, image_service):
        return {}, True

    def retype(self, context, volume, new_type, diff, host):
        return True

    def copy_volume_to_image(self, context, volume, image_service, image_meta):
        raise NotImplementedError()

    def initialize_connection(self, volume, connector, **kwargs):
        return {
            'driver_volume_type': 'fake',
            'data': {'volume_id': volume.id, 'target_discovered': False},
        }
