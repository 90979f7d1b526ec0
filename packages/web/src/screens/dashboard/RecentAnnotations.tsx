import type { AnnotatedSlide } from '@lamina/contract';
import { Anchor, Text } from '@mantine/core';
import { IconPolygon } from '@tabler/icons-react';
import { Link } from 'react-router';
import { useRecentAnnotations } from '../../api/annotated-slides.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Panel } from '../../components/Panel.tsx';
import { formatDateAndTime } from '../../formatting/dates.ts';
import classes from './RecentActivity.module.css';
import { texts } from './texts.ts';

/** Panel on the dashboard with the slides whose annotations changed last. Renders nothing while they load, and when there are none. */
export function RecentAnnotations() {
  const slides = useRecentAnnotations();
  if (slides.isPending || slides.data?.length === 0) return null;
  return (
    <Panel title={texts.recentAnnotations}>
      {slides.isLoadingError ? (
        <LoadFailed message={texts.annotationsFailed} onRetry={() => void slides.refetch()} />
      ) : (
        <ol className={classes.list}>
          {slides.data.map((slide) => (
            <Slide key={slide.image_id} slide={slide} />
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Slide({ slide }: { readonly slide: AnnotatedSlide }) {
  const { image_id, file_name, layer_name, owner_name, annotation_count, updated_at } = slide;
  // `owner_name` is the name of the layer's owner. Null and empty names are omitted.
  const details = [layer_name, owner_name, texts.annotations(annotation_count)].filter(Boolean);
  return (
    <li className={classes.entry}>
      <IconPolygon size={20} aria-hidden className={classes.icon} />
      <span className={classes.description}>
        <Anchor component={Link} to={`/wsi-viewer?image=${encodeURIComponent(image_id)}`}>
          {file_name}
        </Anchor>
        <Text component="span" display="block" size="sm" c="dimmed">
          {details.join(' · ')}
        </Text>
      </span>
      <time dateTime={updated_at} className={classes.time}>
        {formatDateAndTime(updated_at)}
      </time>
    </li>
  );
}
